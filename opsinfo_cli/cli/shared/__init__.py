"""What verbs share: opening targets and mixlists, options, notes beside the answer."""
