"""The instruction table ptx/instructions.csv: reads it, assembles its forms and reads their SASS."""
