import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { type BuiltinTool, invalidInputs } from './builtin-tool.js';

const STATUSES = ['pending', 'in_progress', 'completed'] as const;
type Status = (typeof STATUSES)[number];
type Todo = { content: string; activeForm: string; status: Status };

/** Stores nothing: the list is part of the conversation, and each call contains all of it. */
export const writeTodos: BuiltinTool = ({ todos }) => {
  if (!Array.isArray(todos)) return invalidInputs('todos must be a list');
  const checked: Todo[] = [];
  for (const [at, sent] of todos.entries()) {
    const todo = toTodo(sent);
    if (typeof todo === 'string') return invalidInputs(`todos.${at}.${todo}`);
    checked.push(todo);
  }
  const count = (status: Status) => checked.filter((todo) => todo.status === status).length;
  const [pending, in_progress, completed] = [count('pending'), count('in_progress'), count('completed')];
  const payload: JsonObject = {
    success: true,
    total_tasks: checked.length,
    pending,
    in_progress,
    completed,
    todos: checked,
  };
  return { success: true, payload: { ...payload, warnings: warningsOf(pending, in_progress) } };
};

function toTodo(sent: Json): Todo | string {
  const { content, activeForm, status } = isObject(sent) ? sent : {};
  if (typeof content !== 'string' || content.trim() === '') return 'content must say what to do';
  if (typeof activeForm !== 'string' || activeForm.trim() === '') return 'activeForm must say what is being done';
  const known = STATUSES.find((one) => one === status);
  return known ? { content, activeForm, status: known } : `status must be one of ${STATUSES.join(', ')}`;
}

function warningsOf(pending: number, in_progress: number): string[] {
  if (in_progress > 1)
    return [`${in_progress} tasks are in_progress: exactly one should be, so finish it or set the others to pending`];
  if (in_progress === 0 && pending > 0) return ['no task is in_progress: mark one before you begin it'];
  return [];
}
