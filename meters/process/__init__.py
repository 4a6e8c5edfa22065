"""What every process of pitlink does alike: signals, and files for their owner alone."""
