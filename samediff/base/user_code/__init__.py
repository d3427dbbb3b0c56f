"""Code of users as dl4py meets it: methods that they write, and reports of checks."""
