//! The `cellar` command.

fn main() -> std::process::ExitCode {
    cellar::cli::main()
}
