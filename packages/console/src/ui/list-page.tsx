import type { UseQueryResult } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import type { May } from '../api/me.js';
import { Button } from './button.js';
import { type Column, DataTable, type TableProps } from './data-table.js';
import { ListBody } from './list-body.js';
import { Page } from './page.js';

type Props<Row> = Pick<TableProps<Row>, 'columns' | 'idOf' | 'onOpen' | 'empty'> & {
  title: string;
  of: UseQueryResult<Row[]>;
  /** The label of the button that adds to the list. */
  add: string;
  may: May;
  onAdd(): void;
  /** The buttons of a row, in the last column. */
  actionsOf(row: Row): ReactNode;
  /** By default two buttons fit. */
  actions_width?: string;
  /** What follows the table, such as dialogs. */
  children: ReactNode;
};

/** A page that is one short list. The user can add to it, and its rows have buttons. */
export function ListPage<Row>(props: Props<Row>) {
  const { title, of, add, may, onAdd, columns, actionsOf, actions_width = '64px', children, ...table } = props;
  const actions: Column<Row> = {
    id: 'actions',
    header: <span className="sr-only">Actions</span>,
    width: actions_width,
    cell: actionsOf,
  };
  return (
    <Page
      title={title}
      actions={
        <Button kind="primary" icon={<Plus />} may={may} onClick={onAdd}>
          {add}
        </Button>
      }
      flush
    >
      <ListBody of={of}>
        {(rows) => <DataTable label={title} rows={rows} columns={[...columns, actions]} row_height={42} {...table} />}
      </ListBody>
      {children}
    </Page>
  );
}
