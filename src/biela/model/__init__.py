"""What a user describes: bodies, joints, drivers and forces, and the file formats for them.

A model holds numbers, names and the text of laws, never atoms, and no analysis changes it. Each
joint type is one file.

May import `biela.space`, `biela.atoms` and `biela.graph`. Empty as yet.
"""
