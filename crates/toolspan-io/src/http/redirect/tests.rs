//! Are redirects followed where they may be, and nowhere else?
