"""Reports as one HTML file each: cards with pictures, filters, nothing that is loaded from elsewhere."""
