//! The `cellar` command, built for tests.

fn main() -> std::process::ExitCode {
    cellar::cli::main()
}
