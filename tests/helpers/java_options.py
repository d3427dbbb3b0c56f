"""Options of Java virtual machines that live for seconds: one quick compiler, and a collector without threads of its own."""

SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
