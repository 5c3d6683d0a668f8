//! `cellar edit`: a spreadsheet grid in the terminal.
//!
//! `state` handles keys and `frame` renders the grid; neither needs a terminal. `terminal` reads
//! keys and draws the frame. `session` manages the live spreadsheet.

mod frame;
mod key;
mod session;
mod state;
mod terminal;
mod text_input;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use frame::Layout;
use session::Session;
use state::GridAction;
use terminal::{Input, Terminal, spawn_input_reader};

/// Maximum delay of a key press while cells are being loaded.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout for sending the last edits after the user quits.
const FINAL_SYNC_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) async fn edit_in_grid(
    context: &Context,
    output: &Output,
    args: args::Edit,
) -> Result<(), CliError> {
    if output.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let advice = "in scripts, use `cellar set`, `cellar get`, and `cellar watch`";
        return Err(CliError::usage("`cellar edit` needs a terminal", advice));
    }
    let spreadsheet = context.spreadsheet()?;
    let (live, pokes) =
        (context.open_live_sheet(spreadsheet).await?, context.client()?.pokes(spreadsheet));
    let mut session = Session::new(live, pokes, &args)?;
    let terminal = Terminal::enter()?;
    let result = run_grid(&mut session, &terminal, args.column_width).await;
    drop(terminal);
    result?;
    // Ignore the failure, because unsent edits are persisted.
    let _ = timeout(FINAL_SYNC_TIMEOUT, session.sync()).await;
    session.take_messages().into_iter().for_each(|message| output.note(message));
    match session.count_unsent() {
        0 => {}
        1 => output.note("1 edit is not sent yet. The next `cellar edit` sends it."),
        many => {
            let edits = count(many, "edit", "edits");
            output.note(format!("{edits} are not sent yet. The next `cellar edit` sends them."));
        }
    }
    Ok(())
}

/// Shows the grid and handles keys until the user quits.
async fn run_grid(
    session: &mut Session,
    terminal: &Terminal,
    column_width: u16,
) -> Result<(), CliError> {
    let mut inputs = spawn_input_reader();
    let mut next_sync = Instant::now();
    let mut layout = Layout::new(Terminal::size()?, column_width);
    loop {
        if timeout(REFRESH_TIMEOUT, session.refresh(&layout)).await.is_err() {
            session.grid.notice = Some("still loading cells…".to_owned());
            next_sync = next_sync.min(Instant::now() + REFRESH_TIMEOUT);
        }
        terminal.show(&layout.frame(&session.grid, &session.contents))?;
        tokio::select! {
            biased;
            input = inputs.recv() => {
                // The terminal was closed.
                let Some(input) = input else { return Ok(()) };
                let mut next = Some(input);
                // Handle all pasted text before redrawing the grid.
                while let Some(input) = next {
                    match input {
                        Input::Resized => layout = Layout::new(Terminal::size()?, column_width),
                        Input::Key(key) => match session.press(key, &layout) {
                            GridAction::Quit => return Ok(()),
                            GridAction::None => {}
                            _ => next_sync = Instant::now(),
                        },
                    }
                    next = inputs.try_recv().ok();
                }
            }
            // A key press cancels a running sync without losing anything; the next sync repeats the
            // work.
            delay_ms = sync_when_due(next_sync, session) => {
                next_sync = Instant::now() + Duration::from_millis(delay_ms);
            }
        }
    }
}

/// Syncs at `next_sync`, or earlier if the server reports new log entries. Returns the delay until
/// the next sync, in milliseconds.
async fn sync_when_due(next_sync: Instant, session: &mut Session) -> u64 {
    tokio::select! {
        () = sleep_until(next_sync) => {}
        () = session.wait_for_poke() => {}
    }
    session.sync().await
}
