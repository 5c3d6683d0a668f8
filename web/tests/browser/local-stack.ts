/** Starts a local stack in a folder of its own. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export const SYNTH = process.env["CELLAR_SYNTH"] ?? fileURLToPath(new URL("../../../target/debug/synth", import.meta.url));
const CELLAR = process.env["CELLAR_CLI"] ?? join(dirname(SYNTH), "cellar");

export interface Stack {
  url: string;
  /** The operator token, which may do everything. */
  token: string;
  folder: string;
  /** Runs the command `cellar` and returns its standard output. */
  cellar(...parameters: string[]): Promise<string>;
  /** Creates a token for a person. */
  tokenOf(subject: string): Promise<string>;
  stop(): Promise<void>;
}

/** Commands must find the profile of the folder, not a stack that the environment names. */
function environment(): NodeJS.ProcessEnv {
  const { CELLAR_URL: _url, CELLAR_TOKEN: _token, CELLAR_SPREADSHEET: _spreadsheet, CELLAR_STAGE: _stage, ...rest } = process.env;
  return { ...rest, NO_COLOR: "1" };
}

export async function startStack(): Promise<Stack> {
  if (!existsSync(SYNTH)) throw new Error(`${SYNTH} does not exist: run \`cargo build -p synth -p cellar\`, or set CELLAR_SYNTH`);
  const folder = await mkdtemp(join(tmpdir(), "cellar-browser-"));
  const options = { cwd: folder, env: { ...environment(), XDG_CONFIG_HOME: folder }, maxBuffer: MAX_OUTPUT_BYTES };
  await run(SYNTH, ["deploy", "--local", "--detach", "--port", "0", "--no-smoke"], options);
  const profile: unknown = JSON.parse(await readFile(join(folder, ".cellar/profile.json"), "utf8"));
  const { url, token } = profile as { url: string; token: string };
  return {
    url,
    token,
    folder,
    cellar: async (...parameters) => (await run(CELLAR, parameters, options)).stdout,
    tokenOf: async (subject) => {
      const { stdout } = await run(SYNTH, ["token", "create", "--local", "--json", "--subject", subject], options);
      return (JSON.parse(stdout) as { token: string }).token;
    },
    stop: async () => {
      await run(SYNTH, ["stop"], options);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
