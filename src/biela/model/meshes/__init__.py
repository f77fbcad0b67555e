"""Triangle meshes: reading, mending, volume and inertia."""
