"""The instruction table ptx/instructions.csv: reading it, assembling its forms, and the SASS that comes out."""
