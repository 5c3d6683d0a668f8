//! The `cellar` command, for tests.

fn main() -> std::process::ExitCode {
    cellar::cli::main()
}
