"""Looking for inputs on which two modules differ; trusts the executable reading alone."""
