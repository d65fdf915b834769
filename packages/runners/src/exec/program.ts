/** What is to be run, as the tool and its inputs say; containment comes later. */
export type Program = {
  file: string;
  args: readonly string[];
  /** Who chose the arguments: the caller, the tool's author with places for the caller's values, or nobody but the author. */
  chosen_by: 'caller' | 'author' | 'nobody';
  /** How many of them, from the first on, the author wrote. */
  literal: number;
  stdin: string | undefined;
  /** Variables that the inputs set, as `secret://name`. */
  env: Readonly<Record<string, string>>;
  tty: boolean;
  output: 'text' | 'json' | 'lines';
  /** Whether it may write to its work directory. */
  writes: boolean;
  /** Whether it may have network at all; which, the limits say. */
  network: boolean;
  /** Names of variables it may see beyond the usual ones, where the limits allow them too; null: all that the limits allow. */
  declared_env: readonly string[] | null;
  /** Its extension's own executables, by their hash. */
  tools_hash: string | null;
  /** Whose work directory it shares within a session; null: one of its own. */
  extension_id: string | null;
  /** Files that are in its work directory from the start. */
  files: Readonly<Record<string, string>>;
};
