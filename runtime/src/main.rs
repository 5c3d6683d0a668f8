//! The Lambda binary, which contains all functions of the stack.

fn main() -> std::process::ExitCode {
    cellar_runtime::bootstrap::main()
}
