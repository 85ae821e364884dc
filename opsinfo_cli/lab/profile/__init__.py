"""What ran: tables that msprof and torch_npu write, with the time of each task on the device."""
