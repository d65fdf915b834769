/** What to run, derived from the tool and its inputs. Containment comes later. */
export type Program = {
  file: string;
  args: readonly string[];
  /** Who chose the arguments: the caller; the tool's author, with placeholders for the caller's values; or the author alone (`nobody`). */
  chosen_by: 'caller' | 'author' | 'nobody';
  /** How many leading arguments the author wrote. */
  literal: number;
  stdin: string | undefined;
  /** Variables from the inputs, with values like `secret://name`. */
  env: Readonly<Record<string, string>>;
  tty: boolean;
  output: 'text' | 'json' | 'lines';
  /** Whether it may write to its work directory. */
  writes: boolean;
  /** Whether it may have network access at all. The limits say to which hosts. */
  network: boolean;
  /** Names of additional variables that it may see if the limits allow them too. Null: all that the limits allow. */
  declared_env: readonly string[] | null;
  /** The hash of its extension's own executables. */
  tools_hash: string | null;
  /** The extension whose work directory it shares within a session. Null: it has its own. */
  extension_id: string | null;
  /** Files to create in its work directory before it starts. */
  files: Readonly<Record<string, string>>;
};
