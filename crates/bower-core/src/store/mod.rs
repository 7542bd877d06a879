//! Where items live. The store is the truth; everything else can be deleted and made again.
