"""CT8xx: files beside the template that say how a model is served."""
