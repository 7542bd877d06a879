"""One file a peer; each has a class Peer that keeps the promises of base.Peer."""
