"""The library: what `import hloproof` gives, each function beside the data that it answers with."""
