"""CT9xx: files beside the template that say how a model is served."""
