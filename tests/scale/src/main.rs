//! The `scale` command.

fn main() -> std::process::ExitCode {
    cellar_scale::command::main()
}
