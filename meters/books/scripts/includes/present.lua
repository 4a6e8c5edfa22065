-- Books of another version of the layout are not touched: their link was upgraded, by a later
-- release, under a service that has been running since before (duty D10).
do
  local version = meters['schema'] or '1'
  if last_entry > 0 and version ~= SCHEMA then
    return redis.error_reply('SCHEMA the books are of version ' .. version .. ', not ' .. SCHEMA)
  end
end
