-- Plays a person in Neovim: opens the test, asks for the code action, answers the question, waits for the outcome.
-- Runs in Neovim 0.7 as well as in 0.11; what happened goes to $RESULT as JSON.
local plan = vim.fn.json_decode(vim.env.PLAN)
local seen = { steps = {}, questions = {}, messages = {} }

local function answer(items, prompt)
  for index, item in ipairs(items) do
    local title = type(item) == 'table' and (item.title or item.text) or item
    if type(title) == 'string' and title:find(plan.answer, 1, true) then
      table.insert(seen.questions, prompt)
      return index, item
    end
  end
  return 1, items[1]
end

-- 0.7 asks with inputlist: the message, a heading, then "1. Apply". Later versions use vim.ui.select.
vim.fn.inputlist = function(lines)
  table.insert(seen.questions, lines[1])
  for _, line in ipairs(lines) do
    local number = line:match('^(%d+)%. ' .. plan.answer .. '$')
    if number then return tonumber(number) end
  end
  return 0
end
vim.ui.select = function(items, options, done)
  local index, item = answer(items, options.prompt or '')
  done(item, index)
end

local function keep(name)
  return function(_, params)
    if name == 'outcome' then
      seen.outcome = params
    else
      table.insert(seen[name], params)
    end
  end
end

local show = vim.lsp.handlers['window/showMessage']
local handlers = {
  ['regreen/step'] = keep('steps'),
  ['regreen/outcome'] = keep('outcome'),
  ['window/showMessage'] = function(...)
    table.insert(seen.messages, select(2, ...).message)
    return show(...)
  end,
}
vim.o.shortmess = vim.o.shortmess .. 'A'
vim.o.swapfile = false
local client = vim.lsp.start_client({
  cmd = plan.command,
  name = 'regreen',
  root_dir = plan.folder,
  handlers = handlers,
  init_options = plan.options,
})

local function open(path)
  vim.cmd('edit ' .. vim.fn.fnameescape(path))
  vim.lsp.buf_attach_client(0, client)
  return vim.api.nvim_get_current_buf()
end

local buffers = {}
for _, path in ipairs(plan.open) do
  buffers[path] = open(path)
end
open(plan.test)
vim.wait(10000, function()
  local c = vim.lsp.get_client_by_id(client)
  return c ~= nil and c.initialized
end)
vim.api.nvim_win_set_cursor(0, { plan.line, 0 })
if plan.ask then
  local asked = { command = 'regreen.ask', arguments = { { text = plan.ask, uri = vim.uri_from_bufnr(0) } } }
  vim.lsp.buf_request(0, 'workspace/executeCommand', asked, function() end)
else
  vim.lsp.buf.code_action({ apply = true })
end
vim.wait(plan.patience, function() return seen.outcome ~= nil end, 50)
vim.wait(500)

local found = {}
for path, buffer in pairs(buffers) do
  found[path] = {
    text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n') .. '\n',
    modified = vim.api.nvim_buf_get_option(buffer, 'modified'),
  }
end
local kinds = {}
for _, step in ipairs(seen.steps) do table.insert(kinds, step.event) end
local result = {
  version = vim.version().minor,
  outcome = seen.outcome or vim.NIL,
  steps = kinds,
  questions = seen.questions,
  messages = seen.messages,
  buffers = found,
  said = vim.api.nvim_exec('messages', true),
}
vim.fn.writefile({ vim.fn.json_encode(result) }, vim.env.RESULT)
vim.cmd('qa!')
