"""What a run keeps of its trials. The journal has one record per trial; everything reads them."""
