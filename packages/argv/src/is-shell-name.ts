const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash ash zsh ksh ksh93 mksh lksh pdksh oksh yash rbash rksh rzsh csh tcsh fish pwsh elvish nu xonsh osh busybox toybox'.split(
    ' ',
  ),
);

/** True for the name or path of a shell. */
export const isShellName = (file: string): boolean => SHELLS.has(file.slice(file.lastIndexOf('/') + 1).toLowerCase());
