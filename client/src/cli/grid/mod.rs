//! The command `cellar edit` shows a spreadsheet as a grid in the terminal.
//!
//! `state` handles keys and `frame` renders the grid. Both work without a terminal. `terminal`
//! reads keys and draws frames. `session` manages the live spreadsheet.

mod frame;
mod key;
mod session;
mod stack;
mod state;
mod terminal;
mod text_input;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout};

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use super::spreadsheet_link::SpreadsheetLink;
use crate::Spreadsheet;
use crate::live::LiveSheet;
use frame::Layout;
use session::Session;
use stack::StackFinder;
use state::GridAction;
use terminal::{Input, Terminal, spawn_input_reader};

/// After this time, the grid is drawn with the previous cells.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum time to wait for unsent edits to be sent after the user has quit.
const FINAL_SYNC_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) async fn edit_in_grid(
    context: &Context,
    output: &Output,
    args: args::Edit,
) -> Result<(), CliError> {
    check_terminal(output)?;
    let spreadsheet = context.spreadsheet()?;
    let spreadsheet_id = spreadsheet.id();
    let pokes = spreadsheet.pokes();
    let mut destination = context.selected_destination()?;
    let live = open_live_sheet(context, spreadsheet).await?;
    if let Some(name) = &destination.spreadsheet.name {
        live.save_name(name);
    }
    let profile = context.followed_profile().cloned();
    let finder = profile.map(|profile| StackFinder::new(context.directory.clone(), profile));
    let mut session = Session::new(live, pokes, finder, &args)?;
    let terminal = Terminal::enter()?;
    let result = run_grid(&mut session, &terminal, args.column_width).await;
    drop(terminal);
    result?;
    // Ignore errors and timeouts, because unsent edits are saved on disk.
    let _ = timeout(FINAL_SYNC_TIMEOUT, session.sync()).await;
    for message in session.take_messages() {
        output.print_note(message);
    }
    print_unsent_edits_note(output, session.count_unsent());
    destination.link = SpreadsheetLink::new(session.url(), spreadsheet_id);
    destination.print(*output);
    Ok(())
}

async fn open_live_sheet(
    context: &Context,
    spreadsheet: Spreadsheet,
) -> Result<LiveSheet, CliError> {
    let was_opened = LiveSheet::was_opened(spreadsheet.clone(), &context.directory);
    let result = LiveSheet::open(spreadsheet, &context.directory).await;
    result.map_err(|error| {
        if error.is_offline() && !was_opened {
            CliError::NeverOpened { source: Box::new(error) }
        } else {
            error.into()
        }
    })
}

fn check_terminal(output: &Output) -> Result<(), CliError> {
    if output.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let advice = "in scripts, use `cellar set`, `cellar get`, and `cellar watch`";
        return Err(CliError::usage("`cellar edit` needs a terminal", advice));
    }
    Ok(())
}

fn print_unsent_edits_note(output: &Output, edit_count: usize) {
    match edit_count {
        0 => {}
        1 => output.print_note(
            "1 edit is not sent yet. `cellar sync` or the next `cellar edit` sends it.",
        ),
        _ => {
            let edits = count(edit_count, "edit", "edits");
            output.print_note(format!(
                "{edits} are not sent yet. `cellar sync` or the next `cellar edit` sends them."
            ));
        }
    }
}

struct GridScreen<'a> {
    session: &'a mut Session,
    terminal: &'a Terminal,
    column_width: u16,
    layout: Layout,
    next_sync: Instant,
}

#[derive(PartialEq, Eq)]
enum GridStatus {
    Open,
    Quit,
}

async fn run_grid(
    session: &mut Session,
    terminal: &Terminal,
    column_width: u16,
) -> Result<(), CliError> {
    let mut inputs = spawn_input_reader();
    let layout = Layout::new(Terminal::size()?, column_width);
    let mut screen =
        GridScreen { session, terminal, column_width, layout, next_sync: Instant::now() };
    loop {
        screen.redraw().await?;
        tokio::select! {
            biased;
            input = inputs.recv() => {
                let Some(first_input) = input else { return Ok(()) };
                if screen.handle_inputs(first_input, &mut inputs)? == GridStatus::Quit {
                    return Ok(());
                }
            }
            // If a key press cancels the running sync, the next sync starts over. No data is lost.
            delay_ms = sync_when_due(screen.next_sync, screen.session) => {
                screen.next_sync = Instant::now() + Duration::from_millis(delay_ms);
            }
        }
    }
}

impl GridScreen<'_> {
    /// If loading times out, the grid shows the previous cells.
    async fn redraw(&mut self) -> Result<(), CliError> {
        if timeout(REFRESH_TIMEOUT, self.session.refresh(&self.layout)).await.is_err() {
            self.session.grid.notice = Some("still loading cells…".to_owned());
            self.next_sync = self.next_sync.min(Instant::now() + REFRESH_TIMEOUT);
        }
        let frame = self.layout.render_frame(&self.session.grid, &self.session.contents);
        Ok(self.terminal.show(&frame)?)
    }

    /// Handles an input and all inputs that are already waiting, such as pasted characters.
    fn handle_inputs(
        &mut self,
        first_input: Input,
        waiting_inputs: &mut UnboundedReceiver<Input>,
    ) -> Result<GridStatus, CliError> {
        let mut next_input = Some(first_input);
        while let Some(input) = next_input {
            match input {
                Input::Resized => self.layout = Layout::new(Terminal::size()?, self.column_width),
                Input::Key(key) => match self.session.press(key, &self.layout) {
                    GridAction::Quit => return Ok(GridStatus::Quit),
                    GridAction::None => {}
                    GridAction::Edit(_) | GridAction::Undo | GridAction::SwitchSheet(_) => {
                        self.next_sync = Instant::now();
                    }
                },
            }
            next_input = waiting_inputs.try_recv().ok();
        }
        Ok(GridStatus::Open)
    }
}

/// Waits until `next_sync`, until the server notifies the client of new log entries, or until the stack
/// is found at another URL, and then syncs. Returns the delay until the next sync, in milliseconds.
async fn sync_when_due(next_sync: Instant, session: &mut Session) -> u64 {
    tokio::select! {
        () = sleep_until(next_sync) => {}
        () = session.wait_for_news() => {}
    }
    session.sync().await
}
