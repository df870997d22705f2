-- Drives the servers as an editor does. Prints "name: value" lines; the test compares them.
local lsp = vim.lsp
local buffer = vim.api.nvim_get_current_buf()
local uri = vim.uri_from_bufnr(buffer)
local function report(name, value) io.stdout:write(name .. ': ' .. tostring(value) .. '\n') end

local function ready(count)
  return vim.wait(30000, function()
    local clients = vim.tbl_filter(function(client) return client.initialized end, lsp.get_active_clients())
    return #clients == count
  end, 10)
end

local function start(name, command)
  local id = lsp.start_client({ name = name, cmd = command, root_dir = vim.fn.getcwd() })
  lsp.buf_attach_client(buffer, id)
end

-- Follows EDITORS.md, or else the manual page.
local blocks = {}
for block in io.open(vim.env.FIELDCOST_README):read('*a'):gmatch('```lua\n(.-)```') do table.insert(blocks, block) end
if vim.env.WITH_MAPPING then vim.keymap.set('n', 'K', 'gg') end
if vim.env.WITH_START then
  -- Like 0.8 and later: starts the client and attaches the current buffer.
  lsp.start = function(config)
    report('start', config.name)
    lsp.buf_attach_client(buffer, lsp.start_client(config))
  end
end
for number, block in ipairs(blocks) do
  if vim.env.WITH_CLANGD or (number == 1 and vim.env.WITH_FIRST_BLOCK) then assert(loadstring(block))() end
end
vim.bo.filetype = 'c'
if vim.env.WITH_CLANGD then
  start('clangd', { 'clangd', '--background-index=false', '--log=error' })
  report('ready', ready(2))
elseif not vim.env.WITH_FIRST_BLOCK then
  local page = io.open(vim.env.FIELDCOST_SOURCE .. '/deploy/man/fieldcost-lsp.1'):read('*a')
  assert(loadstring(page:match('\nNeovim:\n%.Bd[^\n]*\n(.-)%.Ed')))()
  report('ready', ready(1))
else
  if not vim.env.WITH_START then
    vim.cmd('new b.c') -- another buffer: the same client on 0.7
    vim.bo.filetype = 'c'
    vim.cmd('quit!')
  end
  report('ready', ready(1))
end
-- A mapping to a Lua function has no right-hand side.
local mapping = vim.fn.maparg('K', 'n', false, true)
report('mapping of K', mapping.callback and 'Lua' or mapping.rhs or 'none')

-- Each server's response at the cursor.
local function ask(method, line, character)
  local answers = lsp.buf_request_sync(buffer, method, {
    textDocument = { uri = uri }, position = { line = line, character = character } }, 30000)
  local by_name = {}
  for id, answer in pairs(answers or {}) do by_name[lsp.get_client_by_id(id).name] = answer.result or nil end
  return by_name
end

local hover = ask('textDocument/hover', 1, 28)
for name, result in pairs(hover) do
  if type(result) == 'table' then report('hover of ' .. name, vim.json.encode(result.contents.value)) end
end

-- What the user sees: the lines of the floating window.
vim.api.nvim_win_set_cursor(0, { 2, 28 })
if vim.fn.maparg('K', 'n') == '' or vim.env.WITH_MAPPING then
  lsp.buf.hover()
else
  vim.api.nvim_feedkeys('K', 'x', false)
end
local shown
vim.wait(10000, function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      shown = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      return true
    end
  end
end, 10)
report('window', shown and vim.json.encode(shown) or 'none')

-- Signatures and the costs on the current line, as the first block shows them.
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then return window end
  end
end
local key
for _, one in ipairs(vim.api.nvim_buf_get_keymap(buffer, 'i')) do
  if one.lhs:lower() == '<c-s>' then key = one end
end
if key then
  if floating() then vim.api.nvim_win_close(floating(), true) end
  vim.api.nvim_win_set_cursor(0, { 2, 34 })
  key.callback()
  vim.wait(10000, floating, 10)
  local buffer_shown = floating() and vim.api.nvim_win_get_buf(floating())
  local lines = buffer_shown and vim.api.nvim_buf_get_lines(buffer_shown, 0, -1, false)
  report('signatures', lines and vim.json.encode(lines) or 'none')
  vim.api.nvim_win_set_cursor(0, { 4, 22 })
  vim.api.nvim_exec_autocmds('CursorMoved', { buffer = buffer })
  local marks
  vim.wait(10000, function()
    marks = vim.api.nvim_buf_get_extmarks(buffer, vim.api.nvim_create_namespace('fieldcost'), 0, -1, { details = true })
    return #marks > 0
  end, 10)
  for _, mark in ipairs(marks) do report('hint', mark[2] + 1 .. ' ' .. mark[4].virt_text[1][1]) end
end

-- Insert-mode completion, with a list like that of <C-x><C-o>.
local words = {}
for name, result in pairs(ask('textDocument/completion', 2, 12)) do
  if type(result) == 'table' then
    for _, item in ipairs(lsp.util.text_document_completion_list_to_complete_items(result, 'slow')) do
      if vim.startswith(item.word, 'slow') then
        words[item.word] = (words[item.word] or 0) + 1
        report('item of ' .. name, item.word .. ' | ' .. (item.menu or ''))
      end
    end
  end
end
local twice = 0
for _, count in pairs(words) do if count > 1 then twice = twice + 1 end end
report('listed twice', twice)
lsp.stop_client(lsp.get_active_clients())
vim.wait(5000, function() return next(lsp.get_active_clients()) == nil end, 10)
report('left', #lsp.get_active_clients())
vim.cmd('qa!')
