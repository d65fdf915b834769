/** What the address of a tool that connects has to look like. */
export const URL_PATTERN = '^[Hh][Tt][Tt][Pp][Ss]?://';
