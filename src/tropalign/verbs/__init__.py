"""The verbs: a module each, which declares its inputs, options and outputs, and how it runs."""
