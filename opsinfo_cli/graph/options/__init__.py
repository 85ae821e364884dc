"""Options and option files of the compiler that change the choice of dtypes."""
