"""Configuration objects: declared fields, builders in two spellings, DL4J's JSON and YAML."""
from .configuration import Configuration as Configuration
from .declaring import configuration as configuration
