"""Reviews: opening, claiming, voting, and what an approval brings about (design/02 ReviewPolicy, design/07 page 3)."""
