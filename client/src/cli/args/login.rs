use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
The token is read from a prompt, or from standard input if it is not a terminal. It is checked, and saved in \
tokens.json in the folder cellar of the configuration folder ($XDG_CONFIG_HOME or ~/.config), which only your \
account can read. Commands use it for this URL. In a folder without .cellar/profile.json, they also use the URL \
of the last login.

Examples:
  cellar login https://example.com
  cellar login https://example.com < token.txt
  cellar logout https://example.com")]
pub(in crate::cli) struct Login {
    /// URL of the stack or of one of its spreadsheets
    #[arg(value_name = "URL")]
    pub(in crate::cli) stack: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Deletes the token that `cellar login` has saved, and the share link that `cellar use` has saved in this folder. \
The token itself stays valid until it expires.

Examples:
  cellar logout                       # the stack of the last login
  cellar logout https://example.com")]
pub(in crate::cli) struct Logout {
    /// URL of the stack [default: that of the last login]
    #[arg(value_name = "URL")]
    pub(in crate::cli) stack: Option<String>,
}
