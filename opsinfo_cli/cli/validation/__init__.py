"""The parts of `validate`: configuration, baselines, fixes, report files."""
