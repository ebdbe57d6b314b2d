"""Charts as figures for papers: PDF, SVG and PNG by matplotlib."""
