"""The verbs: one module each, with inputs, options, outputs and a run."""
