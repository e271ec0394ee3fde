//! Do the parts of the house work together, as a user of the library sees them?

mod config_case;
mod config_entry;
mod config_file;
mod config_server_line;
mod config_whole;
