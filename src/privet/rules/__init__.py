"""Association rules and set-valued data: what mining would reveal, and how it is kept from being mined.

A record is a set of items: a basket, a list of diagnoses, the pages of a visit. Two promises are made about
such data. Of a list of rules none is left that somebody would find who mines with the thresholds of the list
(`hidden`); and whoever knows a few items of a person finds that many records have them (`known`). This room
sees item numbers and counts: no engine, no policy file, no road.
"""
