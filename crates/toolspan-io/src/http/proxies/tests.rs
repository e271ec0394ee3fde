//! Does each set of variables give the proxy that users expect?
