export * from './mcp-credentials.js';
export * from './mcp-discovery.js';
export * from './mcp-pins.js';
export * from './mcp-servers.js';
