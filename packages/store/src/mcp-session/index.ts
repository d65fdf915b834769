export * from './mcp-sessions.js';
