//! `cellar edit`: a grid in the terminal.
//!
//! `state` says what a key does and `frame` what is seen, both without a terminal; `terminal` reads and
//! writes it; `session` has the spreadsheet. Here they meet.

mod frame;
mod line;
mod session;
mod state;
mod terminal;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use frame::Layout;
use session::Session;
use state::Asked;
use terminal::{Input, Terminal, inputs};

/// How long cells may take to be loaded before keys are read again.
const LOOK: Duration = Duration::from_secs(1);
/// How long the last edits may take to be sent when the grid is left.
const LAST_ROUND: Duration = Duration::from_secs(3);

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Edit,
) -> Result<(), CliError> {
    if output.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let advice =
            "in scripts, `cellar set` edits, `cellar get` shows and `cellar watch` follows";
        return Err(CliError::usage("`cellar edit` needs a terminal", advice));
    }
    let spreadsheet = context.spreadsheet()?;
    let (live, pokes) = (context.live(spreadsheet).await?, context.client()?.pokes(spreadsheet));
    let mut session = Session::begin(live, pokes, &args)?;
    let terminal = Terminal::begin()?;
    let ended = edit(&mut session, &terminal, args.column_width).await;
    drop(terminal);
    ended?;
    // What still waits is on disk: this is a courtesy.
    let _ = timeout(LAST_ROUND, session.round()).await;
    session.complaints().into_iter().for_each(|complaint| output.note(complaint));
    match session.waiting() {
        0 => {}
        1 => output.note("An edit waits: the next `cellar edit` sends it."),
        many => {
            let edits = count(many, "edit", "edits");
            output.note(format!("{edits} wait: the next `cellar edit` sends them."));
        }
    }
    Ok(())
}

/// Shows the grid and does what the keys say, until one says to end.
async fn edit(
    session: &mut Session,
    terminal: &Terminal,
    column_width: u16,
) -> Result<(), CliError> {
    let mut inputs = inputs();
    let mut due = Instant::now();
    let mut layout = Layout::new(Terminal::size()?, column_width);
    loop {
        if timeout(LOOK, session.look(&layout)).await.is_err() {
            session.grid.notice = Some("these cells take long to load …".to_owned());
            due = due.min(Instant::now() + LOOK);
        }
        terminal.show(&layout.frame(&session.grid, &session.contents))?;
        tokio::select! {
            biased;
            input = inputs.recv() => {
                // Without a terminal, there is nobody to go on for.
                let Some(input) = input else { return Ok(()) };
                let mut next = Some(input);
                // What was pasted is shown when all of it is there.
                while let Some(input) = next {
                    match input {
                        Input::Resized => layout = Layout::new(Terminal::size()?, column_width),
                        Input::Key(key) => match session.press(key, &layout) {
                            Asked::Quit => return Ok(()),
                            Asked::Nothing => {}
                            _ => due = Instant::now(),
                        },
                    }
                    next = inputs.try_recv().ok();
                }
            }
            // A key ends the wait for an answer: the round begins anew behind it, and loses nothing.
            delay_ms = at(due, session) => due = Instant::now() + Duration::from_millis(delay_ms),
        }
    }
}

/// A round when it is due, or somebody else has done something; for how long to wait then.
async fn at(due: Instant, session: &mut Session) -> u64 {
    tokio::select! {
        () = sleep_until(due) => {}
        () = session.poked() => {}
    }
    session.round().await
}
