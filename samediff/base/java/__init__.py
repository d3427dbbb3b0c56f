"""Types that all of Java's programs know: pairs, and what enums have."""
