"""What tests share: checks of gradients, random graphs and networks, recorded cases, interrupts."""
