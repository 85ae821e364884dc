"""What commands share: parameters, the opening of targets, and answers, which one module prints."""
