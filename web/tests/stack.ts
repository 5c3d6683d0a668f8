/** Starts a real local stack for tests, in a folder of its own under the folder for temporary files. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const SYNTH = process.env["CELLAR_SYNTH"] ?? fileURLToPath(new URL("../../target/debug/synth", import.meta.url));
const CELLAR = process.env["CELLAR_CLI"] ?? join(SYNTH, "..", "cellar");

/** Whether the programs are there. Tests of the stack are skipped if not. */
export const HAS_STACK = existsSync(SYNTH) && existsSync(CELLAR);

export interface Stack {
  url: string;
  /** The operator token, which has the role owner. */
  token: string;
  /** Runs `cellar` with the operator token and returns what it prints. */
  cellar(...args: string[]): Promise<string>;
  /** Creates a spreadsheet and returns its id. */
  create(name: string): Promise<string>;
  /** Creates a token for a person. */
  tokenOf(subject: string): Promise<string>;
  stop(): Promise<void>;
}

/** `configuration` is the text of `cellar.yaml`. */
export async function startStack(configuration?: string): Promise<Stack> {
  const folder = await mkdtemp(join(tmpdir(), "cellar-stack-"));
  if (configuration !== undefined) await writeFile(join(folder, "cellar.yaml"), configuration);
  const synth = (...args: string[]) => run(SYNTH, args, { cwd: folder });
  await synth("deploy", "--local", "--detach", "--port", "0", "--no-smoke");
  const profile: unknown = JSON.parse(await readFile(join(folder, ".cellar", "profile.json"), "utf8"));
  const { url, token } = profile as { url: string; token: string };
  // The home folder holds what `cellar` caches, so that tests do not share it with the user.
  const env = { ...process.env, HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const cellar = async (...args: string[]) =>
    (await run(CELLAR, args, { cwd: folder, env, maxBuffer: MAX_OUTPUT_BYTES })).stdout;
  const create = async (name: string) => {
    const created = JSON.parse(await cellar("create", name, "--json")) as { id: string };
    return created.id;
  };
  const tokenOf = async (subject: string) => {
    const { stdout } = await synth("token", "create", "--local", "--json", "--subject", subject);
    return (JSON.parse(stdout) as { token: string }).token;
  };
  const stop = async () => {
    await synth("stop");
    await rm(folder, { recursive: true, force: true });
  };
  return { url, token, cellar, create, tokenOf, stop };
}
