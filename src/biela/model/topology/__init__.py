"""How bodies are joined: loops, freedoms by count, trees, planes of motion."""
