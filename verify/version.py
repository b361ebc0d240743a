"""The version of the distribution: one place, read by the build and by the command line."""

VERSION = "0.1.0"
